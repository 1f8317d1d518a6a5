import * as z from 'zod';
import { apiAt, dataOf, expectProblem, expectStatus } from '../api.ts';
import { type Check, CheckFailed, CheckSkipped } from '../check.ts';
import { need, type VerifyContext } from '../context.ts';

/** Over the API's limit of 256 KiB, far below API Gateway's 10 MB. */
const TOO_LARGE_BYTES = 300 * 1024;

/** A call of each kind of route, and requests that the API rejects. */
export const requestChecks = ({ api, made, place }: VerifyContext): Check[] => [
  {
    name: 'Call with an API key',
    async run() {
      const { key } = need(made, 'organization');
      dataOf(await api({ method: 'GET', path: 'v1/webhooks', bearer: key }), 200, z.array(z.unknown()));
      return '200';
    },
  },
  {
    name: 'Call without an API key',
    run: async () => expectProblem(await api({ method: 'GET', path: 'v1/webhooks' }), 'AUTHENTICATION_ERROR'),
  },
  {
    name: 'Call an unknown path',
    run: async () => expectProblem(await api({ method: 'GET', path: 'v1/no-such-path' }), 'NOT_FOUND'),
  },
  {
    name: 'Call with a wrong method',
    async run() {
      const answer = await api({ method: 'PUT', path: 'v1/webhooks' });
      const said = expectProblem(answer, 'METHOD_NOT_ALLOWED');
      const allowed = answer.headers.get('allow');
      if (allowed === null || !allowed.includes('POST'))
        throw new CheckFailed(`${answer.call} answered 405 without the methods in Allow.`);
      return said;
    },
  },
  {
    name: 'Send a body that is too large',
    async run() {
      const { key } = need(made, 'organization');
      const body = { channelId: 'verification', externalUserId: 'x'.repeat(TOO_LARGE_BYTES) };
      const answer = await api({ method: 'POST', path: 'v1/conversations', bearer: key, body });
      return expectProblem(answer, 'PAYLOAD_TOO_LARGE');
    },
  },
  {
    name: 'Begin to sign in without an origin',
    run: async () =>
      expectProblem(await api({ method: 'POST', path: 'session/sign-in', body: {} }), 'PERMISSION_DENIED'),
  },
  {
    name: 'Read the API reference',
    async run() {
      const [document, page] = [
        await api({ method: 'GET', path: 'openapi.json' }),
        await api({ method: 'GET', path: 'docs' }),
      ];
      for (const answer of [document, page]) expectStatus(answer, 200);
      const { openapi } = Object(document.body);
      if (typeof openapi !== 'string') throw new CheckFailed(`${document.call} is no OpenAPI document.`);
      return `200, OpenAPI ${openapi}`;
    },
  },
  {
    name: 'Open the dashboard',
    async run() {
      const url = place.outputs.DashboardUrl;
      if (url === undefined) throw new CheckSkipped('the outputs have no DashboardUrl');
      const answer = await apiAt(url)({ method: 'GET', path: '' });
      const type = answer.headers.get('content-type') ?? 'no type';
      if (answer.status !== 200 || !type.startsWith('text/html'))
        throw new CheckFailed(`${url} answered ${answer.status} with ${type} instead of a page.`);
      return '200';
    },
  },
];
