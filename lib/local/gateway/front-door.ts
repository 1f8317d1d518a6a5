import type { Answer } from './answer.ts';
import type { GatewayRequest } from './request.ts';
import type { RestApi } from './rest-api.ts';

/**
 * Sends people who look for the documentation at the root to where it is, behind the stage. A deployment has a custom domain or
 * a distribution in front for that.
 */
export function frontDoor(api: RestApi, { method, segments }: GatewayRequest): Answer | undefined {
  const isPage = segments.length === 1 && segments[0] === 'docs' && ['GET', 'HEAD'].includes(method);
  if (!isPage || !api.operations.match('GET', segments)) return undefined;
  return {
    statusCode: 307,
    headers: { Location: `/${api.stage}/docs`, 'Cache-Control': 'no-store' },
    body: '',
  };
}
