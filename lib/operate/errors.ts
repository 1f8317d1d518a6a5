/** An error that the operator can fix: only its message is shown. */
export class OperateError extends Error {
  override name = 'OperateError';
}

/** Neither `--yes` nor `--dry-run` was given: nothing failed, and nothing was done. */
export class NotConfirmed extends Error {
  override name = 'NotConfirmed';
}

/** The command line contains an unknown value. */
export class UsageError extends Error {
  override name = 'UsageError';
}
