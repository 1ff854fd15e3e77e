// The list: all answers, by what has become of them, to search and to jump to.

import { problem } from './api.js'
import { answers, codeChips, count, element, fullName, put } from './elements.js'
/** @import { App, ListRow as Row, Mount } from './shapes.js' */

const PAGE = 100
// The server sends so many characters of an answer.
const SHORT = 200
const FILTERS = /** @type {const} */ ([
  ['open', 'Open'],
  ['done', 'Done'],
  ['skipped', 'Skipped'],
  ['flagged', 'Flagged'],
  ['disagree', 'Disagree'],
  ['auto', 'By the machine'],
  ['all', 'All'],
])
const ORDERS = /** @type {const} */ ([
  ['file', 'as in the file'],
  ['unsure', 'least sure first'],
  ['alike', 'alike together'],
])
const COLUMNS = ['No.', 'Answer', 'Codes', 'State']
// What was asked for is kept while one looks at an answer and comes back.
const asked = { state: 'all', code: '', search: '', order: 'file', offset: 0 }

/** @type {Mount} */
export function mount(root, app) {
  const wanted = location.hash.split('/')[2]
  if (FILTERS.some(([state]) => state === wanted))
    Object.assign(asked, { state: wanted, offset: 0 })
  const list = new AnswerList(app)
  put(root, list.section)
  list.load()
  const unwatch = app.watch((what) => what === 'status' && list.showFilters())
  return () => {
    unwatch()
    list.end()
  }
}

class AnswerList {
  /** @param {App} app */
  constructor(app) {
    this.app = app
    this._turn = 0
    this._timer = 0
    this._filters = element('div', {
      class: 'filters',
      role: 'group',
      'aria-label': 'Which answers',
    })
    this._count = element('p', { class: 'list-count', role: 'status' })
    this._body = element('tbody', { role: 'rowgroup' })
    this._pager = element('nav', { class: 'pager', 'aria-label': 'Pages of the list' })
    this._caption = element('caption', { class: 'sr-only' })
    this.section = element('section', { class: 'list', 'aria-labelledby': 'list-title' },
      element('h2', { id: 'list-title' }, 'All answers'),
      this._filters,
      this._form(),
      this._count,
      this._table(),
      this._pager,
    )
    this.showFilters()
  }

  end() {
    this._turn++
    clearTimeout(this._timer)
  }

  /** Ask for the rows; an answer that comes after a later question is not shown. */
  async load() {
    const turn = ++this._turn
    try {
      const found = await this.app.api.get('/api/list', { ...asked, limit: PAGE })
      if (turn !== this._turn) return
      if (asked.offset && !found.rows.length) return this._ask({ offset: 0 })
      this._show(found.n, found.rows)
    } catch (error) {
      if (turn !== this._turn) return
      put(this._body)
      this._count.textContent = problem(error)
    }
  }

  showFilters() {
    const { progress, machine } = this.app.status
    const counts = /** @type {Record<string, number>} */ ({
      open: progress.n_open,
      done: progress.n_done,
      skipped: progress.n_skipped,
      flagged: progress.n_flagged,
      disagree: progress.n_disagree,
      auto: machine.n_auto_shown,
      all: this.app.study.n_items,
    })
    const focused = this._filters.contains(document.activeElement) ? asked.state : ''
    const buttons = FILTERS.map(([state, name]) => {
      const how = element('span', { class: 'count' }, ` ${count(counts[state])}`)
      const on = { click: () => this._ask({ state, offset: 0 }) }
      const pressed = asked.state === state
      return element('button',
        { 'data-state': state, 'aria-pressed': String(pressed), on },
        name,
        how,
      )
    })
    put(this._filters, ...buttons)
    buttons.find((button) => button.dataset.state === focused)?.focus()
  }

  /** @param {Partial<typeof asked>} change */
  _ask(change) {
    Object.assign(asked, change)
    this.showFilters()
    this.load()
  }

  _form() {
    const typed = () => {
      clearTimeout(this._timer)
      this._timer = setTimeout(() => this._ask({ search: search.value, offset: 0 }), 150)
    }
    const search = element('input', {
      type: 'search',
      id: 'list-search',
      value: asked.search,
      autocomplete: 'off',
      maxlength: 200,
      on: { input: typed },
    })
    const codes = this.app.study.codes.map((code) => [code.code, fullName(code)])
    const jump = element('input', {
      type: 'number',
      id: 'list-jump',
      min: 1,
      max: this.app.study.n_items,
      inputmode: 'numeric',
      required: true,
    })
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault()
      if (jump.value) this.app.go(`#/item/${jump.valueAsNumber}`)
    }
    return element('div', { class: 'list-form' },
      labelled('Search', search),
      labelled('Code', this._select('code', [['', 'any'], ...codes])),
      labelled('Order', this._select('order', ORDERS)),
      element('form', { class: 'jump', on: { submit } },
        labelled('Answer no.', jump),
        element('button', { type: 'submit' }, 'Go'),
      ),
    )
  }

  /** @param {'code' | 'order'} field
   * @param {readonly (readonly string[])[]} choices */
  _select(field, choices) {
    const options = choices.map(([value, text]) =>
      element('option', { value, selected: value === asked[field] }, text),
    )
    const change = () => this._ask({ [field]: select.value, offset: 0 })
    const select = element('select', { id: `list-${field}`, on: { change } }, ...options)
    return select
  }

  // Roles are named, since on a phone the rows are laid out as cards.
  _table() {
    const heads = COLUMNS.map((name) => element('th', { scope: 'col', role: 'columnheader' }, name))
    const head = element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads))
    return element('table', { class: 'list-table', role: 'table' }, this._caption, head, this._body)
  }

  /** @param {number} n
   * @param {Row[]} rows */
  _show(n, rows) {
    const last = asked.offset + rows.length
    const filter = FILTERS.find(([state]) => state === asked.state)?.[1] ?? ''
    this._caption.textContent = `Answers: ${filter}`
    const part = n > PAGE ? `, ${count(asked.offset + 1)} to ${count(last)} shown` : ''
    const { n_auto, n_auto_shown } = this.app.status.machine
    const hidden = asked.state === 'auto' ? n_auto - n_auto_shown : 0
    const more = hidden ? `. ${count(hidden)} more, drawn at random, are hidden.` : ''
    this._count.textContent = (n ? `${answers(n)}${part}` : 'No answer is like that') + more
    put(this._body, ...rows.map(rowOf))
    this._showPager(n)
  }

  /** @param {number} n */
  _showPager(n) {
    this._pager.hidden = n <= PAGE
    const last = Math.floor(Math.max(0, n - 1) / PAGE) * PAGE
    const { offset } = asked
    const turns = /** @type {[string, number, boolean][]} */ ([
      ['First', 0, offset > 0],
      ['Previous', offset - PAGE, offset > 0],
      ['Next', offset + PAGE, offset < last],
      ['Last', last, offset < last],
    ])
    const focused = this._pager.querySelector(':focus')?.getAttribute('data-turn')
    const buttons = turns.map(([name, to, can]) => {
      const on = { click: () => can && this._turnTo(to) }
      // Not `disabled`: the button that has focus would lose it on the last page.
      return element('button', { 'data-turn': name, 'aria-disabled': String(!can), on }, name)
    })
    const where = `Page ${count(offset / PAGE + 1)} of ${count(last / PAGE + 1)}`
    put(this._pager, ...buttons.slice(0, 2), element('span', {}, where), ...buttons.slice(2))
    buttons.find((button) => button.dataset.turn === focused)?.focus({ preventScroll: true })
  }

  /** @param {number} offset */
  _turnTo(offset) {
    this._ask({ offset })
    this.section.scrollIntoView({ block: 'start' })
  }
}

/** @param {Row} row */
function rowOf(row) {
  const text = row.text.trim() ? row.text : '(empty answer)'
  const end = [...row.text].length >= SHORT ? '…' : ''
  const link = element('a', { href: `#/item/${row.item}`, dir: 'auto' }, text, end)
  const note =
    row.flag && element('span', { class: 'row-note', dir: 'auto' }, `⚑ ${row.note || 'flagged'}`)
  return element('tr', { role: 'row', 'data-item': row.item },
    element('td', { role: 'cell', class: 'number' }, row.item),
    element('th', { role: 'rowheader', scope: 'row' }, link, note),
    element('td', { role: 'cell' }, ...codesOf(row)),
    element('td', { role: 'cell', class: 'muted' }, stateText(row)),
  )
}

/** The codes of a row; those that are only suggested are called so.
 * @param {Row} row
 * @returns {Node[]} */
function codesOf({ state, codes, by }) {
  if (!codes || !by) return [element('span', { class: 'muted' }, '–')]
  const isSuggested = by === 'machine' && state !== 'auto'
  const word = isSuggested && element('span', { class: 'muted small' }, 'suggested ')
  return word ? [word, codeChips(codes)] : [codeChips(codes)]
}

/** @param {Row} row */
function stateText({ state, drawn }) {
  const text = { auto: 'by the machine', coded: 'coded before' }[String(state)] ?? state
  return drawn ? `${text}, drawn` : text
}

/** @param {string} text
 * @param {HTMLElement} field */
function labelled(text, field) {
  return element('label', { class: 'field', for: field.id }, element('span', {}, text), field)
}
