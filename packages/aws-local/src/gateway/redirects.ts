import type { Answer } from './answer.ts';
import type { GatewayRequest } from './request.ts';

/** Redirects paths outside the stage, as a custom domain or distribution does when deployed. */
export function redirectPages(
  redirects: Readonly<Record<string, string>>,
): (request: GatewayRequest) => Promise<Answer | undefined> {
  const targets = new Map(Object.entries(redirects));
  return async ({ method, segments }) => {
    const target = targets.get(`/${segments.join('/')}`);
    if (target === undefined || !['GET', 'HEAD'].includes(method)) return undefined;
    return { statusCode: 307, headers: { Location: target, 'Cache-Control': 'no-store' }, body: '' };
  };
}
