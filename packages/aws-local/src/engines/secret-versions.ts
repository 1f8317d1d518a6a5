import * as z from 'zod';

const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';

const Version = z.object({
  versionId: z.string(),
  value: z.string(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  /** Staging labels: each is at one version of a secret at most. */
  stages: z.array(z.string()),
});
export type SecretVersion = z.infer<typeof Version>;

/** All versions of a secret, as they are kept. An earlier run kept one, which is the current one. */
export const SecretVersions = z.union([
  z.array(Version),
  Version.omit({ stages: true }).transform((only) => [{ ...only, stages: [CURRENT] }]),
]);
export type SecretVersions = z.infer<typeof SecretVersions>;

/** A change that Secrets Manager would not make: the exception's name, and why. */
export class Refused extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

export const firstVersion = (value: string, versionId: string, createdAt: number): SecretVersions => [
  { versionId, value, createdAt, stages: [CURRENT] },
];

/**
 * The version that is asked for: by its identifier, its label or both; the current one otherwise.
 * @throws Refused
 */
export function versionOf(
  versions: SecretVersions,
  { versionId, stage }: { versionId?: string | undefined; stage?: string | undefined },
): SecretVersion {
  const label = stage ?? (versionId === undefined ? CURRENT : undefined);
  const found = versions.find(
    (version) =>
      (versionId === undefined || version.versionId === versionId) &&
      (label === undefined || version.stages.includes(label)),
  );
  if (found === undefined)
    throw new Refused(
      'ResourceNotFoundException',
      "Secrets Manager can't find the specified secret value for staging label or version.",
    );
  return found;
}

/**
 * The versions with one more, which takes its labels from those that have them. Repeated with the same value
 * it changes nothing.
 * @throws Refused when the identifier is that of another value
 */
export function withValue(
  versions: SecretVersions,
  { versionId, value, createdAt, stages }: SecretVersion,
): SecretVersions {
  const known = versions.find((version) => version.versionId === versionId);
  if (known?.value === value) return versions;
  if (known !== undefined)
    throw new Refused(
      'ResourceExistsException',
      "You can't use ClientRequestToken because it was used for another value.",
    );
  return pruned(
    stages.reduce(
      (present, stage) => moved(present, stage, versionId),
      [...versions, { versionId, value, createdAt, stages: [] }],
    ),
  );
}

/**
 * The versions with a label at another of them. A label that is somewhere has to be taken from there by name,
 * which makes the move a conditional one.
 * @throws Refused
 */
export function withStage(
  versions: SecretVersions,
  { stage, to, from }: { stage: string; to?: string | undefined; from?: string | undefined },
): SecretVersions {
  const holder = versions.find(({ stages }) => stages.includes(stage))?.versionId;
  if (to !== undefined) versionOf(versions, { versionId: to });
  if (holder !== from && holder !== to)
    throw new Refused(
      'InvalidParameterException',
      `The parameter RemoveFromVersionId is not the version that staging label ${stage} is attached to.`,
    );
  return pruned(moved(versions, stage, to));
}

/** A label at one version alone. What was current becomes the previous one. */
function moved(versions: SecretVersions, stage: string, to: string | undefined): SecretVersions {
  const holder = versions.find(({ stages }) => stages.includes(stage))?.versionId;
  const next = versions.map((version) => ({
    ...version,
    stages: [
      ...version.stages.filter((label) => label !== stage),
      ...(version.versionId === to ? [stage] : []),
    ],
  }));
  return stage === CURRENT && holder !== undefined && holder !== to ? moved(next, PREVIOUS, holder) : next;
}

/**
 * Versions without a label may be deleted at any time. A few are kept here, as Secrets Manager keeps those of
 * the last day.
 */
const KEPT = 10;
const pruned = (versions: SecretVersions): SecretVersions =>
  versions.filter(({ stages }, index) => stages.length > 0 || index >= versions.length - KEPT);
