/** An error that the operator can fix: only its message is shown. */
export class OperateError extends Error {
  override name = 'OperateError';
}

/** The command line contains an unknown value. */
export class UsageError extends Error {
  override name = 'UsageError';
}
