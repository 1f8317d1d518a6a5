import * as z from 'zod';

const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';

const Version = z.object({
  versionId: z.string(),
  value: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** Staging labels; each is on at most one version of a secret. */
  stages: z.array(z.string()),
});
export type SecretVersion = z.infer<typeof Version>;

/** Stored versions of a secret. Earlier releases stored only the current one. */
export const SecretVersions = z.union([
  z.array(Version),
  Version.omit({ stages: true }).transform((only) => [{ ...only, stages: [CURRENT] }]),
]);
export type SecretVersions = z.infer<typeof SecretVersions>;

/** A change that Secrets Manager rejects: the exception's name and message. */
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
 * Finds a version by identifier, label or both; by default the current one.
 * @throws Refused
 */
export function versionOf(
  versions: SecretVersions,
  { versionId, stage }: { versionId?: string | undefined; stage?: string | undefined },
): SecretVersion {
  const label = stage ?? (versionId === undefined ? CURRENT : undefined);
  const current = versions.find(
    (version) =>
      (versionId === undefined || version.versionId === versionId) &&
      (label === undefined || version.stages.includes(label)),
  );
  if (current === undefined)
    throw new Refused(
      'ResourceNotFoundException',
      "Secrets Manager can't find the specified secret value for staging label or version.",
    );
  return current;
}

/**
 * Adds a version, which takes over its labels. Repeated with the same value it changes nothing.
 * @throws Refused when the identifier has another value
 */
export function withValue(
  versions: SecretVersions,
  { versionId, value, createdAt, stages }: SecretVersion,
): SecretVersions {
  const current = versions.find((version) => version.versionId === versionId);
  if (current?.value === value) return versions;
  if (current !== undefined)
    throw new Refused(
      'ResourceExistsException',
      "You can't use ClientRequestToken because it was used for another value.",
    );
  return pruneVersions(
    stages.reduce(
      (present, stage) => moveLabel(present, stage, versionId),
      [...versions, { versionId, value, createdAt, stages: [] }],
    ),
  );
}

/**
 * Moves a label. A label in use must be removed by naming its version, which makes the move conditional.
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
  return pruneVersions(moveLabel(versions, stage, to));
}

/** Puts a label on one version only. The version that was current becomes the previous one. */
function moveLabel(versions: SecretVersions, stage: string, to: string | undefined): SecretVersions {
  const holder = versions.find(({ stages }) => stages.includes(stage))?.versionId;
  const next = versions.map((version) => ({
    ...version,
    stages: [
      ...version.stages.filter((label) => label !== stage),
      ...(version.versionId === to ? [stage] : []),
    ],
  }));
  return stage === CURRENT && holder !== undefined && holder !== to
    ? moveLabel(next, PREVIOUS, holder)
    : next;
}

/** Secrets Manager keeps the last day's versions without a label; here a few are kept. */
const KEPT = 10;
const pruneVersions = (versions: SecretVersions): SecretVersions =>
  versions.filter(({ stages }, index) => stages.length > 0 || index >= versions.length - KEPT);
