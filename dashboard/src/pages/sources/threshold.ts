import { useOrganization } from '../../api/organization.ts';
import { useEnvironment } from '../../app/environment.ts';

/**
 * Percent of a source beyond which admins are told; undefined in the sandbox, which has no settings of its
 * own, and where it is not known.
 */
export function useThreshold(): number | undefined {
  const { environment } = useEnvironment();
  const { data } = useOrganization();
  return environment === 'live' ? data?.contentChangeThreshold : undefined;
}
