export class CheckFailed extends Error {
  override name = 'CheckFailed';
  /** One line each. */
  readonly findings: readonly string[];

  constructor(...findings: readonly string[]) {
    super(findings.join('\n'));
    this.findings = findings;
  }
}

/** The check could not run. The message names what it needs. */
export class CheckSkipped extends Error {
  override name = 'CheckSkipped';
}

export interface Check {
  name: string;
  /**
   * @returns details for the report
   * @throws CheckFailed or CheckSkipped; any other error fails the check as well
   */
  run(): Promise<string>;
}

export interface CheckResult {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  milliseconds: number;
  /** Reason of a skipped check; empty for a failed one. */
  detail: string;
  /** Empty unless the check failed. */
  findings: readonly string[];
}

/** @throws CheckFailed with all findings, if any */
export function requireNone(findings: readonly string[]): void {
  if (findings.length > 0) throw new CheckFailed(...findings);
}
