import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { secretArn } from '../arns.ts';
import { type Engine, ensureStateDirectory } from './engine.ts';
import { failure, type JsonAnswer, type JsonCall, startJsonService, success } from './json-service.ts';
import { generateSecretString, type SecretStringRule } from './secret-string.ts';
import { firstVersion, Refused, SecretVersions, versionOf, withStage, withValue } from './secret-versions.ts';

/** A secret of the template: its physical name and how its value is generated. */
export interface SecretDefinition {
  name: string;
  generate: SecretStringRule;
}

const StoredSecrets = z.record(z.string(), SecretVersions);
type StoredSecrets = z.infer<typeof StoredSecrets>;

/**
 * Starts a Secrets Manager that reads and updates secrets. Each is generated at its first start and stored in
 * `<directory>/secrets.json`, readable only by its owner.
 * @throws LocalRunError when the directory is not writable
 */
export async function startSecrets(options: {
  directory: string;
  secrets: readonly SecretDefinition[];
}): Promise<Engine> {
  ensureStateDirectory(options.directory);
  const file = join(options.directory, 'secrets.json');
  let stored = generateMissing(file, options.secrets);
  const names = new Map(
    options.secrets.flatMap(({ name }) => [name, secretArn(name)].map((id) => [id, name])),
  );
  const vault: Vault = {
    nameOf: (id) => names.get(id),
    read: (name) => stored[name] ?? [],
    write(name, versions) {
      stored = { ...stored, [name]: versions };
      save(file, stored);
    },
  };
  return startJsonService((call) => answer(call, vault));
}

interface Vault {
  /** @param id name or ARN */
  nameOf(id: string): string | undefined;
  read(name: string): SecretVersions;
  write(name: string, versions: SecretVersions): void;
}

function generateMissing(file: string, definitions: readonly SecretDefinition[]): StoredSecrets {
  const before = existsSync(file) ? StoredSecrets.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
  const generated = definitions
    .filter(({ name }) => !Object.hasOwn(before, name))
    .map(({ name, generate }) => [
      name,
      firstVersion(generateSecretString(generate, randomInt), randomUUID(), Date.now()),
    ]);
  if (generated.length === 0) return before;

  const after: StoredSecrets = { ...before, ...Object.fromEntries(generated) };
  save(file, after);
  return after;
}

/** Atomic rename: a killed start leaves the old file or the new one. */
function save(file: string, secrets: StoredSecrets): void {
  writeFileSync(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

const text = z.string();
const stages = z.array(text).min(1);

const GetSecretValue = z.object({
  SecretId: text,
  VersionId: text.optional(),
  VersionStage: text.optional(),
});
const PutSecretValue = z.object({
  SecretId: text,
  SecretString: text,
  ClientRequestToken: text.min(32).max(64),
  VersionStages: stages.default(['AWSCURRENT']),
});
const UpdateSecretVersionStage = z.object({
  SecretId: text,
  VersionStage: text,
  MoveToVersionId: text.optional(),
  RemoveFromVersionId: text.optional(),
});

function answer({ target = '', body }: JsonCall, vault: Vault): JsonAnswer {
  const operation = OPERATIONS.get(target);
  if (operation === undefined)
    return failure('InvalidRequestException', `The local Secrets Manager does not know ${target}`);
  try {
    return success(operation(body, vault));
  } catch (error) {
    if (error instanceof Refused) return failure(error.type, error.message);
    if (error instanceof z.ZodError)
      return failure('InvalidParameterException', `${target}: ${z.prettifyError(error)}`);
    throw error;
  }
}

const OPERATIONS = new Map<string, (body: unknown, vault: Vault) => Record<string, unknown>>([
  [
    'secretsmanager.GetSecretValue',
    (body, vault) => {
      const { SecretId, VersionId, VersionStage } = GetSecretValue.parse(body);
      const name = known(SecretId, vault);
      const version = versionOf(vault.read(name), { versionId: VersionId, stage: VersionStage });
      return {
        ...identity(name),
        VersionId: version.versionId,
        SecretString: version.value,
        VersionStages: version.stages,
        CreatedDate: version.createdAt / 1_000,
      };
    },
  ],
  [
    'secretsmanager.PutSecretValue',
    (body, vault) => {
      const put = PutSecretValue.parse(body);
      const name = known(put.SecretId, vault);
      const { ClientRequestToken: versionId, SecretString: value } = put;
      const version = { versionId, value, createdAt: Date.now(), stages: put.VersionStages };
      vault.write(name, withValue(vault.read(name), version));
      return { ...identity(name), VersionId: versionId, VersionStages: put.VersionStages };
    },
  ],
  [
    'secretsmanager.UpdateSecretVersionStage',
    (body, vault) => {
      const update = UpdateSecretVersionStage.parse(body);
      const name = known(update.SecretId, vault);
      const move = {
        stage: update.VersionStage,
        to: update.MoveToVersionId,
        from: update.RemoveFromVersionId,
      };
      vault.write(name, withStage(vault.read(name), move));
      return identity(name);
    },
  ],
]);

const identity = (name: string) => ({ ARN: secretArn(name), Name: name });

/** @throws Refused when the template has no such secret */
function known(id: string, vault: Vault): string {
  const name = vault.nameOf(id);
  if (name === undefined)
    throw new Refused('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  return name;
}
