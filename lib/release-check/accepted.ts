import type { Accepted } from './finding.ts';

/**
 * Findings of the next release that were read and are intended, with the reason; removed when it is tagged. A
 * key is the direction, the rule and the logical id: `deploy data-left TablesUsageTable6DB3CB98`.
 */
export const ACCEPTED: Accepted = {};
