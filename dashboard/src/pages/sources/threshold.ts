import { useOrganization } from '../../api/organization.ts';
import { useEnvironment } from '../../app/environment.ts';

/**
 * Percent of a source above which admins are notified; undefined in the sandbox, which has no settings, and
 * while it is unknown.
 */
export function useThreshold(): number | undefined {
  const { environment } = useEnvironment();
  const { data } = useOrganization();
  return environment === 'live' ? data?.contentChangeThreshold : undefined;
}
