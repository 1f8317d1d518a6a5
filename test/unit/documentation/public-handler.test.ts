import { describe, expect, it } from 'vitest';
import { publicHandler } from '../../../functions/api/documentation/public-handler.ts';
import { problem } from '../../../functions/http/problem.ts';
import { aGatewayEvent, INVOCATION } from '../../support/functions.ts';

const page = { statusCode: 200, headers: { 'Content-Type': 'text/html' }, body: 'a page' };

async function call(serve: Parameters<typeof publicHandler>[1], path = '/docs') {
  const event = aGatewayEvent({ httpMethod: 'GET', path, resource: '/docs' });
  const { statusCode, headers, body } = await publicHandler('docs', serve)(event, INVOCATION);
  return { status: statusCode, type: statusCode < 400 ? body : JSON.parse(body).error.type, headers };
}

describe('a public function', () => {
  it('answers what it serves, and problems in the envelope with their headers', async () => {
    expect(await call(() => page)).toMatchObject({ status: 200, type: 'a page' });
    expect(await call(() => problem('METHOD_NOT_ALLOWED', 'No.', { Allow: 'GET' }))).toMatchObject({
      status: 405,
      type: 'METHOD_NOT_ALLOWED',
      headers: { Allow: 'GET', 'Request-Id': expect.any(String) },
    });
  });

  it('is 404 for a path with surplus slashes', async () => {
    expect(await call(() => page, '/docs/')).toMatchObject({ status: 404, type: 'NOT_FOUND' });
  });

  it('is 500 in the envelope when it fails', async () => {
    const broken = () => {
      throw new Error('the file is gone');
    };
    expect(await call(broken)).toMatchObject({ status: 500, type: 'INTERNAL_ERROR' });
  });
});
