// Dialogs, the browser's own: focus stays inside while they are open, then it is the answer's.

import { element, toAnswer } from './elements.js'
/** @import { Child } from './shapes.js' */

let counter = 0
/** Whether one is about to open: until then no key does anything. */
export const dialogs = { isOpening: false }

/** Show a dialog; it is gone from the page once it is closed, by its button, Escape or `close`.
 * @param {{title: string, name: string, closeText?: string}} about
 * @param {Child[]} body
 * @param {Node[]} [buttons] left of the one that closes */
export function showDialog({ title, name, closeText = 'Close' }, body, buttons = []) {
  const id = `dialog-${++counter}`
  dialogs.isOpening = false
  const heading = element('h2', { id, class: 'dialog-title', tabindex: '-1', autofocus: true },
    title,
  )
  const close = element('button', { class: 'quiet', 'data-close': true }, closeText)
  const dialog = element('dialog', { class: `dialog dialog-${name}`, 'aria-labelledby': id },
    heading,
    element('div', { class: 'dialog-body' }, ...body),
    element('div', { class: 'dialog-buttons' }, ...buttons, close),
  )
  close.addEventListener('click', () => dialog.close())
  const closed = /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      dialog.addEventListener('close', () => {
        dialog.remove()
        toAnswer()
        resolve()
      })
    })
  )
  document.body.append(dialog)
  dialog.showModal()
  return { dialog, closed }
}
