import { UserError } from 'terminal/errors.ts';
import { z } from 'zod';

const Enrolled = z.object({
  organizationId: z.string(),
  key: z.object({ secretOnce: z.string() }),
});

export interface Organization {
  id: string;
  apiKey: string;
}

/**
 * Reuses an earlier run's organization while its key is valid, else creates one.
 * @param options.accepts whether the API accepts a key
 * @param options.enrol requests a new organization
 * @throws UserError when the response is not an organization with a key
 */
export async function ensureOrganization(options: {
  name: string;
  kept: Organization | undefined;
  accepts(apiKey: string): Promise<boolean>;
  enrol(request: { name: string; tier: string }): Promise<unknown>;
}): Promise<{ organization: Organization; isNew: boolean }> {
  if (options.kept !== undefined && (await options.accepts(options.kept.apiKey))) {
    return { organization: options.kept, isNew: false };
  }
  const answer = Enrolled.safeParse(await options.enrol({ name: options.name, tier: 'scale' }));
  if (!answer.success) {
    const [issue] = answer.error.issues;
    throw new UserError(
      `The enrolment answered an unexpected value: ${issue?.path.join('.')}: ${issue?.message}.`,
    );
  }
  const { organizationId, key } = answer.data;
  return { organization: { id: organizationId, apiKey: key.secretOnce }, isNew: true };
}
