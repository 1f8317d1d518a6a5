/** Parsed options. */
export interface Flags {
  local?: boolean;
  stage?: string;
  outputs?: string;
  region?: string;
  json?: boolean;
  yes?: boolean;
  dryRun?: boolean;
  check?: boolean;
  hurry?: boolean;
  overwrite?: boolean;
  /** Maximum of messages. */
  max: number;
  /** Selected messages; empty for all. */
  ids: readonly string[];
  save?: string;
  /** Why a host is blocked. */
  reason?: string;
}
