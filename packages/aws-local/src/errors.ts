/**
 * A failure of the local run that its user can act on: an unsupported template, a missing engine binary, a
 * directory in use. Its message is one line, complete without a stack trace.
 */
export class LocalRunError extends Error {
  override readonly name = 'LocalRunError';
}
