// Apply to all alike: every open answer with the same suggestion is shown before it gets the codes.

import { ApiError } from './api.js'
import { showDialog } from './dialog.js'
import { codeChips, codesText, element, put } from './elements.js'

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./api.js').ItemView} ItemView */
/** @typedef {import('./shapes.js').Alike} Alike */
/** @typedef {import('./shapes.js').Applied} Applied */

const LONGEST = 600

/**
 * Show the answers like this one, and give the ticked ones the codes in one act.
 *
 * @param {App} app
 * @param {ItemView} item
 * @param {string[]} [codes] those that are on; else the suggested ones
 * @returns {Promise<Applied | null>} null if nothing was applied
 */
export async function open(app, item, codes) {
  const found = await app.api.get('/api/alike', { item: item.item })
  /** @type {Alike[]} */
  const others = found.items.filter((/** @type {Alike} */ other) => other.item !== item.item)
  const here = { item: item.item, text: item.text, seen: item.seen }
  const choice = new AlikeChoice(app, [here, ...others], codes ?? found.codes)
  return choice.ask(Math.max(0, found.n - found.items.length))
}

class AlikeChoice {
  /**
   * @param {App} app
   * @param {Alike[]} items the one on screen first
   * @param {string[]} codes
   */
  constructor(app, items, codes) {
    this.app = app
    this.items = items
    this.codes = codes
    // The same uid however often it is tried: applied once.
    this.uid = crypto.randomUUID()
    this.boxes = items.map(({ item }) =>
      element('input', { type: 'checkbox', id: `alike-${item}`, checked: true }),
    )
    this._apply = element('button', { type: 'button', class: 'primary' })
    this._all = element('button', { type: 'button', class: 'quiet' })
    this._problem = element('p', { class: 'problem', role: 'alert' })
  }

  /**
   * @param {number} n_more how many others there are that are not shown
   * @returns {Promise<Applied | null>}
   */
  async ask(n_more) {
    const rows = this.items.map(({ item, text }, i) => {
      const words = text.trim() ? shortened(text) : '(empty answer)'
      const here = i === 0 && element('span', { class: 'muted' }, ' (on screen)')
      const label = element(
        'label',
        { for: `alike-${item}` },
        element('span', { class: 'number' }, `${item} `),
        element('span', { dir: 'auto' }, words),
        here,
      )
      return element('li', {}, this.boxes[i], label)
    })
    const list = element('ul', { class: 'alike-list', 'aria-label': 'Answers alike' }, ...rows)
    list.addEventListener('change', () => this._count())
    const more =
      n_more > 0 &&
      element(
        'p',
        { class: 'muted' },
        `${n_more.toLocaleString('en')} more are alike; they come when these are done.`,
      )
    const body = [
      element(
        'p',
        {},
        'The machine suggests the same codes for these answers. Read them, and take the tick ' +
          'from those that do not belong.',
      ),
      element(
        'div',
        { class: 'alike-codes' },
        element('span', {}, 'They get '),
        codeChips(this.codes),
      ),
      list,
      more || null,
      this._problem,
    ].filter((node) => node !== null)
    /** @type {Applied | null} */
    let applied = null
    const { dialog, closed } = showDialog(
      { title: 'Apply to all alike', name: 'alike', closeText: 'Cancel' },
      body,
      [this._apply, this._all],
    )
    this._apply.addEventListener('click', async () => {
      applied = await this._send()
      if (applied) dialog.close()
    })
    this._all.addEventListener('click', () => this._tickAll())
    this._count()
    this._apply.focus()
    await closed
    return applied
  }

  _ticked() {
    return this.items.filter((_, i) => this.boxes[i].checked)
  }

  _tickAll() {
    const to = this._ticked().length === 0
    for (const box of this.boxes) box.checked = to
    this._count()
  }

  _count() {
    const n = this._ticked().length
    const answers = n === 1 ? '1 answer' : `${n.toLocaleString('en')} answers`
    put(this._apply, n ? `Give ${answers} these codes` : 'No answer is ticked')
    this._apply.disabled = n === 0
    put(this._all, n ? 'Untick all' : 'Tick all')
  }

  /** @returns {Promise<Applied | null>} */
  async _send() {
    const ticked = this._ticked()
    const items = ticked.map(({ item, seen }) => ({ item, seen }))
    this._apply.disabled = true
    put(this._problem)
    try {
      const body = { uid: this.uid, items, codes: this.codes, round: this.app.status.round }
      const { n, conflicts, status } = await this.app.api.send('POST', '/api/decide_many', body)
      this.app.setStatus(status)
      const left = conflicts.length
        ? ` ${conflicts.length} had changed meanwhile and were left as they are.`
        : ''
      this.app.announce(`${n} answers got ${codesText(this.codes)}.${left}`)
      const got = items.map(({ item }) => item).filter((item) => !conflicts.includes(item))
      return { uid: this.uid, n, conflicts, items: got, codes: this.codes, status }
    } catch (error) {
      const text =
        error instanceof ApiError
          ? error.message
          : 'The server does not answer. Nothing was lost; try again.'
      put(this._problem, text)
      this._apply.disabled = false
      return null
    }
  }
}

/** @param {string} text */
const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
