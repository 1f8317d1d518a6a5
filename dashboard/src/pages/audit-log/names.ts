import { useMemo } from 'react';
import type { Environment } from '../../api/client.ts';
import { useKeys } from '../../api/keys.ts';
import { useOrganization } from '../../api/organization.ts';
import { useEndpoints } from '../../api/webhooks.ts';

/** Present names of what entries are about, by identifier, as far as they are loaded. */
export function useNames(environment: Environment): ReadonlyMap<string, string> {
  const { data: endpoints } = useEndpoints(environment);
  const { data: keys } = useKeys();
  const { data: organization } = useOrganization();
  return useMemo(
    () =>
      new Map([
        ...(endpoints ?? []).map(({ id, url }) => [id, url] as const),
        ...(keys?.pages ?? []).flatMap(({ data }) => data.map(({ id, name }) => [id, name] as const)),
        ...(organization === undefined ? [] : [[organization.id, organization.name] as const]),
      ]),
    [endpoints, keys, organization],
  );
}
