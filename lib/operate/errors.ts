/** What an operator can do something about: its message is all that is shown. */
export class OperateError extends Error {
  override name = 'OperateError';
}

/** Neither `--yes` nor `--dry-run` was given: nothing failed, and nothing was done. */
export class NotConfirmed extends Error {
  override name = 'NotConfirmed';
}

/** The command line says something that the tool does not know. */
export class UsageError extends Error {
  override name = 'UsageError';
}
