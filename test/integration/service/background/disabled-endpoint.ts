import { until } from 'aws-local/test/until.ts';
import { FAILURES_TO_DISABLE } from '../../../../functions/receivers/endpoint.ts';
import type { Service } from '../../../support/service.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { storeFailures } from '../stored-failures.ts';

/**
 * Registers an endpoint that fails, as if it lacked one failure to be disabled, and sends it a test event.
 * @returns its identifier
 */
export async function aDisabledEndpoint(
  service: Pick<Service, 'rows' | 'rewrite'>,
  { api }: Tenant,
  url: string,
): Promise<string> {
  const { id } = await api.register(url, ['ticket.created']);
  const path = `/api/v1/webhooks/${id}`;
  await storeFailures(service, id, FAILURES_TO_DISABLE - 1);
  await api.post(`${path}/test`);
  await until(`${id} to be disabled`, async () => {
    const { body } = await api.get(path);
    return body.data?.status === 'auto_disabled';
  });
  return id;
}
