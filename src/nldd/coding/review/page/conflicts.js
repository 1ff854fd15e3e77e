// Decisions that the server did not take, because another tab was first or it refused them.

import { button, codeChips, element, line, put } from './elements.js'
/** @import { App, Refusal } from './shapes.js' */

/** Show all that wait for a person.
 * @param {HTMLElement} root
 * @param {App} app */
export function showConflicts(root, app) {
  const { refusals } = app.outbox
  const shown = refusals.map(({ letter }) => letter.uid).join()
  if (root.dataset.shown === shown) return
  root.dataset.shown = shown
  put(root, ...refusals.map((refusal) => conflict(refusal, app)))
}

/** @param {Refusal} refusal
 * @param {App} app */
function conflict(refusal, app) {
  const { letter, other, error } = refusal
  const { decision } = letter
  /** @param {boolean} keepMine */
  const settle = (keepMine) => app.queue.settle(refusal, keepMine)
  const item = other?.item ?? letter.item
  const link = element('a', { href: `#/item/${item}` }, `Answer ${item}`)
  if (!other || !decision) {
    return element('section', { class: 'notice', role: 'alert' },
      line(link, ` was not ${decision ? 'saved' : 'undone'}. ${error}`),
      button('Let it go', () => settle(false)),
    )
  }
  return element('section', { class: 'notice', role: 'alert' },
    line(
      link,
      ' has been changed in another tab since you saw it. Nothing is overwritten: decide which ' +
        'one counts.',
    ),
    element('blockquote', { class: 'small', dir: 'auto' }, other.text.slice(0, 200)),
    element('dl', { class: 'versions' },
      ...version('Yours', decision.action, decision.codes),
      ...version('The other', other.state, other.codes ?? []),
    ),
    element('div', { class: 'dialog-buttons' },
      button('Keep mine', () => settle(true)),
      button('Take the other', () => settle(false)),
    ),
  )
}

/** @param {string} name
 * @param {string} state
 * @param {string[]} codes */
function version(name, state, codes) {
  /** @type {Record<string, string>} */
  const words = { skip: 'skipped', open: 'open again', flag: 'flagged', unflag: 'flag removed' }
  const said = words[state] ?? (state === 'skipped' && state)
  return [element('dt', {}, name), element('dd', {}, said || codeChips(codes))]
}
