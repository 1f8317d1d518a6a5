/** What an operator can do something about: its message is all that is shown. */
export class OperateError extends Error {
  override name = 'OperateError';
}

/** The command line says something that the tool does not know. */
export class UsageError extends Error {
  override name = 'UsageError';
}
