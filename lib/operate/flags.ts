/** What the flags say, each as it is used. */
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
  /** How many messages at most. */
  max: number;
  /** Messages that are meant; all when there is none. */
  ids: readonly string[];
  save?: string;
  /** Why a host is blocked. */
  reason?: string;
}
