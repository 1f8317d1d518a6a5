import type { Dependency } from '../metric-names.ts';
import { countingThrottles } from './throttles.ts';
import { sayingOneUserAgent } from './user-agent.ts';

type Client = Parameters<typeof countingThrottles>[0] & Parameters<typeof sayingOneUserAgent>[0];

/** What every SDK client of ours has around its requests. @returns the client */
export const prepared = <C extends Client>(client: C, dependency: Dependency): C =>
  countingThrottles(sayingOneUserAgent(client), dependency);
