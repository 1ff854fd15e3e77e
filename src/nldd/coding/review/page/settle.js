// Disagreements: the answers that coders coded differently, to settle.

import { agreementParts } from './agreement.js'
import { ApiError, problem } from './api.js'
import { button, codeChips, codesText, count, element } from './elements.js'
import { findField, keyCap, put } from './elements.js'
/** @import { App, Disagreement as Row, Mount, Side } from './shapes.js' */

const PAGE = 25
const LONG = 400
const WAIT = 'Wait until all is saved.'
// The server's limit.
const MOST = 1000

/** @type {Mount} */
export function mount(root, app) {
  const title = element('h2', { id: 'settle-title' }, 'Disagreements')
  const body = element('div', { class: 'settle-body' }, 'One moment.')
  put(root, element('section', { class: 'settle', 'aria-labelledby': 'settle-title' }, title, body))
  /** @type {(() => void)[]} */
  let ends = []
  /** @type {string[]} What was settled in this view: only that is undone. */
  const made = []
  let isHere = true
  const load = async () => {
    try {
      const asked = ['agreement', 'disagreements']
      const [agreement, rows] = await Promise.all(asked.map((n) => app.api.get(`/api/${n}`)))
      if (!isHere) return
      const settling = new Settling(app, rows, made)
      put(body, ...agreementParts(agreement, !rows.length), settling.section)
      ends.forEach((end) => end())
      ends = settling.listen(load)
    } catch (error) {
      if (!isHere) return
      put(body, element('p', { class: 'problem', role: 'alert' }, problem(error)))
    }
  }
  load()
  return () => {
    isHere = false
    ends.forEach((end) => end())
  }
}

class Settling {
  /** @param {App} app
   * @param {Row[]} rows
   * @param {string[]} made */
  constructor(app, rows, made) {
    this.app = app
    this.rows = rows
    this._made = made
    this._n_all = rows.length < MOST ? rows.length : app.status.progress.n_disagree
    this._n_shown = 0
    this._since = performance.now()
    /** @type {Card[]} */
    this.cards = []
    this._state = element('p', { class: 'settle-state' })
    this._list = element('div', { class: 'cards' })
    this._more = button('', () => this._showMore(), 'quiet')
    this.section = element('section', { 'aria-label': 'Answers to settle' },
      this._state,
      this._list,
      this._more,
    )
    this._showMore()
    this._tell()
  }

  /** Let keys work: those of codes take a side, arrows move.
   * @param {() => void} reload */
  listen(reload) {
    const { keys } = this.app
    return [
      keys.on('code', (index) => this._current()?.takeSide(index)),
      keys.on('next', () => this._move(1)),
      keys.on('previous', () => this._move(-1)),
      keys.on('undo', () => this._undo(reload)),
    ]
  }

  /** @param {() => void} reload */
  async _undo(reload) {
    const { api, outbox, queue } = this.app
    const undoes = this._made.at(-1)
    if (!undoes || outbox.letters.length)
      return this._say(undoes ? WAIT : 'Nothing was settled here that could be undone.')
    try {
      const body = { uid: crypto.randomUUID(), undoes }
      const { items, status } = await api.send('POST', '/api/undo', body)
      this._made.pop()
      queue.did(undoes, items)
      this.app.setStatus(status)
      this.app.announce(`Taken back: answer ${items[0].item}.`)
      reload()
    } catch (error) {
      this._say(problem(error))
    }
  }

  /** @param {string} text */
  _say(text) {
    put(this._state, text)
    this.app.announce(text)
  }

  /** @param {Card} card
   * @param {string[]} codes */
  async settle(card, codes) {
    if (card.isBusy) return
    // What was decided before comes first, so that undo finds all in its order.
    if (this.app.outbox.letters.length) return card.fail(WAIT)
    card.isBusy = true
    const { item, seen } = card.row
    const seconds = Math.min(3600, (performance.now() - this._since) / 1000)
    const { round } = this.app.status
    const body = { uid: card.uid, item, seen, action: 'settle', codes, note: '', round, seconds }
    try {
      const { item: view, status } = await this.app.api.send('POST', '/api/decide', body)
      this._made.push(card.uid)
      this.app.queue.did(card.uid, [view], status.progress.last)
      card.finish(`Settled: ${codesText(codes)}`)
      this._since = performance.now()
      this.app.setStatus(status)
      this.app.announce(`Answer ${item} settled: ${codesText(codes)}.`)
      this._next(card)?.focus()
    } catch (error) {
      this._take(card, error)
    }
    card.isBusy = false
    this._tell()
  }

  /** What to show of a request that was not done: what is there now, or why.
   * @param {Card} card
   * @param {unknown} error */
  _take(card, error) {
    if (!(error instanceof ApiError)) return card.fail('The server does not answer. Try again.')
    card.uid = crypto.randomUUID()
    if (error.status === 409 && error.body.row) card.renew(error.body.row)
    else if (error.status === 409) return card.finish('It was settled elsewhere.')
    card.fail(error.message)
  }

  _tell() {
    const left = this._n_all - this.cards.filter((card) => card.isSettled).length
    const { keys } = this.app
    const byKey = keys.enabled
      ? ` ${keys.codeLabel(0)}, ${keys.codeLabel(1)} take a side, ${keys.label('next')} goes ` +
        `on, ${keys.label('undo')} undoes.`
      : ''
    put(this._state, left ? `${count(left)} to settle.${byKey}` : 'There is nothing to settle.')
  }

  _showMore() {
    const more = this.rows
      .slice(this._n_shown, this._n_shown + PAGE)
      .map((row) => new Card(this, row))
    this._n_shown += more.length
    this.cards.push(...more)
    this._list.append(...more.map((card) => card.article))
    const left = this.rows.length - this._n_shown
    this._more.hidden = left === 0
    put(this._more, `Show more (${count(left)} left)`)
    if (this.cards.length > more.length) more[0]?.focus()
  }

  _current() {
    const here = this.cards.find((card) => card.article.contains(document.activeElement))
    return here ?? this.cards.find((card) => !card.isSettled)
  }

  /** @param {Card} card */
  _next(card) {
    const behind = this.cards.slice(this.cards.indexOf(card) + 1)
    return [...behind, ...this.cards].find((other) => !other.isSettled)
  }

  /** @param {number} by */
  _move(by) {
    const here = this.cards.findIndex((card) => card.article.contains(document.activeElement))
    const to = here < 0 ? 0 : Math.max(0, Math.min(this.cards.length - 1, here + by))
    this.cards[to]?.focus()
  }
}

/** One answer with what each coder gave it. */
class Card {
  /** @param {Settling} settling
   * @param {Row} row */
  constructor(settling, row) {
    this.settling = settling
    this.row = row
    this.uid = crypto.randomUUID()
    this.isSettled = false
    this.isBusy = false
    this._problem = element('p', { class: 'problem', role: 'alert' })
    this._below = element('div', { class: 'card-below' })
    this._sides = element('div', { class: 'sides' })
    const id = `settle-${row.item}`
    const link = { href: `#/item/${row.item}`, 'aria-label': `Show answer ${row.item}` }
    const title = element('h3', { id, class: 'card-title' }, `Answer ${row.item} `)
    title.append(element('a', link, 'show'))
    // A long text scrolls, so the keyboard must be able to go there.
    const scrolls = { role: 'region', tabindex: '0', 'aria-label': `Text of answer ${row.item}` }
    const attributes = { class: 'card-text', dir: 'auto', ...(row.text.length > LONG && scrolls) }
    const text = element('div', attributes, row.text.trim() ? row.text : '(empty answer)')
    this.article = element('article',
      { class: 'card', tabindex: '-1', 'aria-labelledby': id, 'data-item': row.item },
      title,
      text,
      this._sides,
      this._below,
      this._problem,
    )
    this.renew(row)
  }

  /** Show what coders gave, as it is now.
   * @param {Row} row */
  renew(row) {
    row.by.sort((a, b) => a.coder.localeCompare(b.coder))
    this.row = row
    put(this._sides, ...row.by.map((side, i) => this._side(side, i)))
    put(this._below, button('Other codes', () => this._edit(), 'quiet'))
  }

  focus() {
    this.article.focus()
  }

  /** @param {number} index */
  takeSide(index) {
    const side = this.row.by[index]
    if (side && !this.isSettled) this.settling.settle(this, side.codes)
  }

  /** @param {string} text */
  finish(text) {
    this.isSettled = true
    this.article.classList.add('settled')
    put(this._problem)
    put(this._below, element('p', { class: 'settled-text' }, `✓ ${text}`))
    for (const side of this._sides.querySelectorAll('button')) side.disabled = true
  }

  /** @param {string} text */
  fail(text) {
    put(this._problem, text)
  }

  /** @param {Side} side
   * @param {number} index */
  _side({ coder, codes }, index) {
    const apart = codes.filter((code) => !this.row.by.every((side) => side.codes.includes(code)))
    const on = { click: () => this.takeSide(index) }
    const label = `Take the codes of ${coder}: ${codesText(codes)}`
    return element('div', { class: 'side' },
      element('p', { class: 'side-coder', dir: 'auto' }, coder),
      codeChips(codes, apart),
      element('button', { 'aria-label': label, on },
        keyCap(this.settling.app.keys.codeLabel(index)),
        ' Take these',
      ),
    )
  }

  /** Tick boxes for all codes, those that anybody gave on top and those of the first coder on. */
  _edit() {
    const given = [...new Set(this.row.by.flatMap(({ codes }) => codes))]
    const known = this.settling.app.study.codes.map(({ code }) => code)
    const codes = [...given, ...known.filter((code) => !given.includes(code))]
    const boxes = codes.map((code) =>
      element('input', {
        type: 'checkbox',
        value: code,
        checked: this.row.by[0].codes.includes(code),
      }),
    )
    const choices = codes.map((code, i) =>
      element('label', { class: 'choice' }, boxes[i], element('span', { dir: 'auto' }, code)),
    )
    const find = findField({
      input: () => {
        const typed = find.value.toLowerCase()
        choices.forEach((choice, i) => (choice.hidden = !codes[i].toLowerCase().includes(typed)))
      },
    })
    const settle = () =>
      this.settling.settle(this, boxes.filter((box) => box.checked).map((box) => box.value))
    const fields = element('fieldset', { class: 'choices' },
      element('legend', {}, 'Codes of this answer'),
      find,
      element('div', { class: 'choice-list' }, ...choices),
    )
    put(this._below, fields, button('Settle with these', settle, 'primary'))
    boxes[0]?.focus()
  }
}
