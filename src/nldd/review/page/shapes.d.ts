// Shapes of what the server sends to the views; for the check of types only, no browser loads it.

/** A line of the list. */
export interface ListRow {
  item: number
  text: string
  state: 'open' | 'done' | 'skipped' | 'auto' | 'coded'
  codes: string[] | null
  by: 'people' | 'machine' | ''
  flag: boolean
  note: string
  drawn: boolean
}

/** An open answer with the same suggestion as another. */
export interface Alike {
  item: number
  text: string
  seen: number
}

/** What was done: which items got the codes, and those that had changed meanwhile. */
export interface Applied {
  uid: string
  n: number
  conflicts: number[]
  items: number[]
  codes: string[]
  status: import('./api.js').Status
}

/** What a coder gave an answer. */
export interface Side {
  coder: string
  codes: string[]
}

/** An answer that coders coded differently. */
export interface Disagreement {
  item: number
  text: string
  seen: number
  by: Side[]
}

/** Krippendorff's alpha with its 95 % interval. */
export interface Alpha {
  value: number | null
  low: number | null
  high: number | null
}

/** How far coders agree on one code. */
export interface CodeAgreement {
  code: string
  counts: number[]
  agreement: number
  kappa: number | null
}

/** How far coders agree on the answers that they coded in common. */
export interface Agreement {
  coders: string[]
  n_answers: number
  n_same: number
  masi: Alpha
  nominal: Alpha
  codes: CodeAgreement[]
}
