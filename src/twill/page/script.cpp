#include "twill/page/print.h"

namespace twill::page {

/// Script that sorts tables, opens the module to which links lead, and shows a bar's details below
/// its chart while a pointer rests on it. Without the script the page has the same contents.
const char* const kScript = R"JS(
(function () {
  'use strict';
  function all(root, selector) { return Array.prototype.slice.call(root.querySelectorAll(selector)); }

  function compare(a, b, numeric) {
    if (!numeric) return a.textContent.localeCompare(b.textContent, 'en', {numeric: true});
    var x = a.getAttribute('data-value'), y = b.getAttribute('data-value');
    if (x === null || y === null) return (x === null) - (y === null);
    return Number(x) - Number(y);
  }

  function sort(table, column, head) {
    var numeric = head.classList.contains('n');
    var down = head.getAttribute('aria-sort') === (numeric ? 'descending' : 'ascending')
        ? !numeric : numeric;
    all(table, 'th').forEach(function (it) { it.removeAttribute('aria-sort'); });
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    var place = new Map(rows.map(function (row, i) { return [row, i]; }));
    rows.sort(function (a, b) {
      var order = compare(a.cells[column], b.cells[column], numeric);
      return (down ? -order : order) || place.get(a) - place.get(b);
    });
    rows.forEach(function (row) { body.appendChild(row); });
  }

  all(document, 'table.sortable').forEach(function (table) {
    all(table, 'th').forEach(function (head, column) {
      head.querySelector('button').addEventListener('click', function () {
        sort(table, column, head);
      });
    });
  });

  all(document, 'a[href^="#t"]').forEach(function (link) {
    link.addEventListener('click', function () { document.getElementById('ttgir').open = true; });
  });

  function light(target) {
    all(document, '.lit').forEach(function (it) { it.classList.remove('lit'); });
    if (!target) return;
    target.classList.add('lit');
    var op = target.getAttribute('data-op');
    if (!op) return;
    all(document, '[data-op]').forEach(function (it) {
      if (it.getAttribute('data-op') === op) it.classList.add('lit');
    });
  }

  function look(section, event) {
    var target = event.target.closest ? event.target.closest('.bar, .arrow, .tick, .edge') : null;
    light(target);
    var title = target && target.querySelector('title');
    var detail = section.querySelector('.detail');
    if (title && detail) detail.textContent = title.textContent;
  }

  all(document, 'section').forEach(function (section) {
    if (!section.querySelector('.bar')) return;
    section.addEventListener('pointerover', look.bind(null, section));
    section.addEventListener('click', look.bind(null, section));
    section.addEventListener('pointerleave', function () { light(null); });
  });
})();
)JS";

}  // namespace twill::page
