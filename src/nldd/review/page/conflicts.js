// Decisions that the server did not take, because another tab was first or it refused them.

import { codeChips, element, put } from './elements.js'

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./outbox.js').Refusal} Refusal */

/**
 * Show all that wait for a person.
 *
 * @param {HTMLElement} root
 * @param {App} app
 */
export function showConflicts(root, app) {
  if (root.childElementCount === app.outbox.refusals.length) return
  put(
    root,
    ...app.outbox.refusals.map((refusal) => conflict(refusal, app, () => showConflicts(root, app))),
  )
}

/**
 * @param {Refusal} refusal
 * @param {App} app
 * @param {() => void} redraw
 */
function conflict(refusal, app, redraw) {
  const { letter, other, error } = refusal
  /** @param {boolean} keepMine */
  const settle = (keepMine) => {
    app.outbox.settle(refusal, keepMine)
    if (other && !keepMine) app.queue.take({ item: other }, letter)
    redraw()
  }
  const link = element('a', { href: `#/item/${letter.item}` }, `Answer ${letter.item}`)
  if (!other) {
    return element(
      'section',
      { class: 'notice', role: 'alert' },
      element('p', {}, link, ` was not saved. ${error}`),
      button('Let it go', () => settle(false)),
    )
  }
  return element(
    'section',
    { class: 'notice', role: 'alert' },
    element(
      'p',
      {},
      link,
      ' has been changed in another tab since you saw it. Nothing is overwritten: decide which one counts.',
    ),
    element('blockquote', { class: 'small', dir: 'auto' }, other.text.slice(0, 200)),
    element(
      'dl',
      { class: 'versions' },
      ...version('Yours', letter.decision?.action ?? '', letter.decision?.codes ?? []),
      ...version('The other', other.state, other.codes ?? []),
    ),
    element(
      'div',
      { class: 'dialog-buttons' },
      button('Keep mine', () => settle(true)),
      button('Take the other', () => settle(false)),
    ),
  )
}

/**
 * @param {string} name
 * @param {string} state
 * @param {string[]} codes
 */
function version(name, state, codes) {
  const words = {
    skip: 'skipped',
    skipped: 'skipped',
    open: 'open again',
    flag: 'flagged',
    unflag: 'flag removed',
  }
  const said = /** @type {Record<string, string>} */ (words)[state]
  return [element('dt', {}, name), element('dd', {}, said ?? codeChips(codes))]
}

/**
 * @param {string} label
 * @param {() => void} act
 */
function button(label, act) {
  return element('button', { type: 'button', on: { click: act } }, label)
}
