// Apply to all alike: every open answer with the same suggestion is shown before it gets the codes.

import { problem } from './api.js'
import { showDialog } from './dialog.js'
import { answers, codeChips, codesText, count, element, line, muted, put } from './elements.js'
/** @import { Alike, App, Applied, ItemView } from './shapes.js' */

const LONGEST = 600

/** Show the answers like this one, and give the ticked ones the codes in one act.
 * @param {App} app
 * @param {ItemView} item
 * @param {string[]} [codes] those that are on; else the suggested ones
 * @returns {Promise<Applied | null>} null if nothing was applied */
export async function open(app, item, codes) {
  const found = await app.api.get('/api/alike', { item: item.item }).catch(() => null)
  if (!found) app.announce('The server does not answer.')
  if (!found || app.queue.current?.item !== item.item) return null
  /** @type {Alike[]} */
  const others = found.items.filter((/** @type {Alike} */ other) => other.item !== item.item)
  const here = { item: item.item, text: item.text, seen: item.seen }
  const choice = new AlikeChoice(app, [here, ...others], codes ?? found.codes)
  choice.round = found.round
  return choice.ask(Math.max(0, found.n - found.items.length))
}

class AlikeChoice {
  /** @param {App} app
   * @param {Alike[]} items the one on screen first
   * @param {string[]} codes */
  constructor(app, items, codes) {
    this.app = app
    this.items = items
    this.codes = codes
    this.round = app.status.round
    // The same uid however often it is tried: applied once.
    this.uid = crypto.randomUUID()
    this.boxes = items.map(({ item }) =>
      element('input', { type: 'checkbox', id: `alike-${item}`, checked: true }),
    )
    this._apply = element('button', { class: 'primary' })
    this._all = element('button', { class: 'quiet' })
    this._problem = element('p', { class: 'problem', role: 'alert' })
    /** @type {Promise<Applied | null>} What came of it, if it was sent. */
    this._applied = Promise.resolve(null)
  }

  /** @param {number} n_more how many others there are that are not shown
   * @returns {Promise<Applied | null>} */
  async ask(n_more) {
    const rows = this.items.map(({ item, text }, i) => {
      const words = text.trim() ? shortened(text) : '(empty answer)'
      const here = i === 0 && element('span', { class: 'muted' }, ' (on screen)')
      const label = element('label', { for: `alike-${item}` },
        element('span', { class: 'number' }, `${item} `),
        element('span', { dir: 'auto' }, words),
        here,
      )
      return element('li', {}, this.boxes[i], label)
    })
    const list = element('ul', { class: 'alike-list', 'aria-label': 'Answers alike' }, ...rows)
    list.addEventListener('change', () => this._count())
    const more =
      n_more > 0 && muted(`${count(n_more)} more are alike; they come when these are done.`)
    const body = [
      line(
        'The machine suggests the same codes for these answers. Read them, and take the tick ' +
          'from those that do not belong.',
      ),
      element('div', { class: 'alike-codes' }, 'They get ', codeChips(this.codes)),
      list,
      more,
      this._problem,
    ]
    const { dialog, closed } = showDialog(
      { title: 'Apply to all alike', name: 'alike', closeText: 'Cancel' },
      body,
      [this._apply, this._all],
    )
    // By Tab they come before hundreds of ticks; and Enter that is held presses none of them.
    const buttons = /** @type {HTMLElement} */ (dialog.lastElementChild)
    dialog.firstElementChild?.after(buttons)
    this._apply.addEventListener('click', async () => {
      buttons.inert = true
      this._applied = this._send()
      if ((await this._applied)?.uid) dialog.close()
      buttons.inert = false
      this._apply.focus()
    })
    dialog.addEventListener('cancel', (event) => buttons.inert && event.preventDefault())
    this._all.addEventListener('click', () => this._tickAll())
    this._count()
    await closed
    return this._applied
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
    put(this._apply, n ? `Give ${answers(n)} these codes` : 'No answer is ticked')
    this._apply.disabled = n === 0
    put(this._all, n ? 'Untick all' : 'Tick all')
  }

  /** @returns {Promise<Applied>} */
  async _send() {
    const ticked = this._ticked().map(({ item, seen }) => ({ item, seen }))
    put(this._problem)
    try {
      const body = { uid: this.uid, items: ticked, codes: this.codes, round: this.round }
      const found = await this.app.api.send('POST', '/api/decide_many', body)
      const { n, conflicts, items, status } = found
      this.app.setStatus(status)
      const left = conflicts.length
        ? ` ${conflicts.length} had changed meanwhile and were left as they are.`
        : ''
      this.app.announce(`${n} answers got ${codesText(this.codes)}.${left}`)
      if (!n) put(this._problem, 'All of them had changed meanwhile.')
      return { uid: n ? this.uid : '', items, unsure: conflicts }
    } catch (error) {
      put(this._problem, `${problem(error)} Try again.`)
      // It may have arrived all the same.
      return { uid: '', items: [], unsure: ticked.map(({ item }) => item) }
    }
  }
}

/** @param {string} text */
const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
