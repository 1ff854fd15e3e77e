// Questions of the coding view: a note for a flag, and the name of a new code.

import { ApiError, send } from './api.js'
import { showDialog } from './dialog.js'
import { button, element, line, muted, put, sentence } from './elements.js'
import { isComposing } from './keys.js'
/** @import { App, ItemView } from './shapes.js' */

/** A note for a flag; false removes the flag, null leaves all as it is.
 * @param {ItemView} view
 * @returns {Promise<string | false | null>} */
export async function askFlag(view) {
  const attributes = { rows: '3', maxlength: '2000', 'aria-label': 'Note', dir: 'auto' }
  const field = element('textarea', attributes)
  field.value = view.note
  /** @type {string | false | null} */
  let answer = null
  /** @param {string | false} value */
  const close = (value) => {
    answer = value
    dialog.close()
  }
  onEnter(field, () => close(field.value.trim()))
  const about = 'For yourself or for others: it stands in the exported table. It may be empty.'
  const flag = button('Flag', () => close(field.value.trim()), 'primary')
  const remove = view.flag ? [button('Remove the flag', () => close(false))] : []
  const { dialog, closed } = showDialog(
    { title: 'Flag this answer, with a note', name: 'ask', closeText: 'Cancel' },
    [muted(about), field],
    [flag, ...remove],
  )
  field.focus()
  await closed
  return answer
}

/** Add a code to the study; returned is the code to switch on, or null.
 * @param {App} app
 * @param {string} name what was typed already
 * @returns {Promise<string | null>} */
export async function askNewCode(app, name) {
  const attributes = { type: 'text', maxlength: '200', autocomplete: 'off', dir: 'auto' }
  const field = element('input', { ...attributes, 'aria-label': 'Name of the new code' })
  field.value = name
  const said = element('div', { class: 'ask-said', role: 'alert', tabindex: '-1' })
  /** @type {string | null} */
  let answer = null
  /** @param {string} code */
  const close = (code) => {
    answer = code
    dialog.close()
  }
  /** @param {boolean} sure */
  const add = async (sure) => {
    if (!field.value.trim()) return field.focus()
    try {
      const { code, codes } = await send('POST', '/api/codes', { code: field.value, sure })
      app.study.codes = codes
      close(code)
    } catch (error) {
      put(said, ...refused(error, close, () => add(true)))
      // Not on a button: Enter that is held or pressed twice would choose.
      said.focus()
    }
  }
  onEnter(field, () => add(false))
  const { dialog, closed } = showDialog(
    { title: 'New code', name: 'ask', closeText: 'Cancel' },
    [field, said],
    [button('Add', () => add(false), 'primary')],
  )
  field.focus()
  await closed
  return answer
}

/** Why a code was not added, and what one can do then.
 * @param {unknown} error
 * @param {(code: string) => void} use
 * @param {() => void} addAnyway */
function refused(error, use, addAnyway) {
  if (!(error instanceof ApiError)) {
    return [line('The server cannot be reached. A new code needs it: try again later.')]
  }
  /** @type {string[]} */
  const like = error.body?.like ?? []
  const said = line(error.message)
  if (error.status !== 409 || !like.length) return [said, line(sentence(error.hint))]
  const known = like.map((code) => button(`Use “${code}”`, () => use(code)))
  const anyway = button('Add it all the same', addAnyway)
  return [said, element('div', { class: 'dialog-buttons' }, ...known, anyway)]
}

/** Call a function when Enter is pressed in a field; with Shift it is a new line.
 * @param {HTMLElement} field
 * @param {() => void} act */
function onEnter(field, act) {
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
    event.preventDefault()
    if (!event.repeat) act()
  })
}
