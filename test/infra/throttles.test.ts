import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import type { Route } from '../../functions/http/route.ts';
import { withSessionRoutes } from '../../lib/openapi/session-routes.ts';
import { EVERYTHING, FEWEST_REQUESTS, OWN_KEY, STAGES } from './contexts.ts';
import { all } from './reading.ts';
import { methodsOf, synthesize } from './synthesize.ts';

/** The most that methods without credentials may have of the stage's throttle together. */
const PUBLIC_SHARE = 0.5;

interface Setting {
  HttpMethod: string;
  ResourcePath: string;
  ThrottlingRateLimit: number;
  ThrottlingBurstLimit: number;
  LoggingLevel?: string;
}

const authenticated = new Set(
  Object.values(withSessionRoutes(routes) as Record<string, Route>)
    .filter(({ scope, role }) => scope !== undefined || role !== undefined)
    .map(({ method, path }) => `${method} ${path}`),
);

describe.each([
  ...STAGES.map((stage) => ({ stage })),
  ...STAGES.map((stage) => ({ stage, ...EVERYTHING })),
  OWN_KEY,
  FEWEST_REQUESTS,
])('throttles of methods: %j', (context) => {
  const template = synthesize(context);
  const [[, stage] = []] = all(template, 'AWS::ApiGateway::Stage');
  const settings = stage?.Properties.MethodSettings as Setting[];
  const ofStage = settings.find(({ HttpMethod }) => HttpMethod === '*');
  const ofMethods = settings.filter((setting) => setting !== ofStage);
  const nameOf = ({ HttpMethod, ResourcePath }: Setting) =>
    `${HttpMethod} ${ResourcePath.slice(1).replaceAll('~1', '/')}`;

  it('exist for exactly the methods without credentials', () => {
    const open = methodsOf(template)
      .filter(({ method }) => method !== 'ANY')
      .map(({ method, path }) => `${method} ${path}`)
      .filter((method) => !authenticated.has(method));
    expect(open).toEqual(
      expect.arrayContaining(['GET /docs', 'POST /session', 'OPTIONS /v1/widget/messages']),
    );
    expect(ofMethods.map(nameOf).sort()).toEqual(open.sort());
  });

  it('leave at least half of the stage’s throttle to callers with keys and sessions', () => {
    const sum = ofMethods.reduce((total, { ThrottlingRateLimit: rate }) => total + rate, 0);
    expect(sum).toBeLessThanOrEqual(PUBLIC_SHARE * Number(ofStage?.ThrottlingRateLimit));
    for (const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } of ofMethods) {
      expect(rate).toBeGreaterThan(0);
      expect(burst).toBeGreaterThanOrEqual(1);
    }
  });

  it("repeat the stage's log settings, because settings of a method replace the stage’s", () => {
    for (const { LoggingLevel } of ofMethods) expect(LoggingLevel).toBe(ofStage?.LoggingLevel);
  });
});
