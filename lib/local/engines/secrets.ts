import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { secretArn } from '../arns.ts';
import { type Engine, ensureStateDirectory } from './engine.ts';
import { failure, type JsonAnswer, type JsonCall, startJsonService, success } from './json-service.ts';
import { generateSecretString, type SecretStringRule } from './secret-string.ts';

/** A secret of the template: its physical name, and how its value comes about. */
export interface SecretDefinition {
  name: string;
  generate: SecretStringRule;
}

const StoredSecret = z.object({ value: z.string(), versionId: z.string(), createdAt: z.number() });
const StoredSecrets = z.record(z.string(), StoredSecret);
type StoredSecrets = z.infer<typeof StoredSecrets>;

/**
 * Starts a Secrets Manager that answers `GetSecretValue`. Each secret is generated at its first start and kept in
 * `<directory>/secrets.json`, which only its owner can read.
 *
 * @throws LocalRunError when the directory is not writable
 */
export async function startSecrets(options: {
  directory: string;
  secrets: readonly SecretDefinition[];
}): Promise<Engine> {
  ensureStateDirectory(options.directory);
  const stored = generateMissing(join(options.directory, 'secrets.json'), options.secrets);
  const served = new Map(options.secrets.flatMap(({ name }) => entriesOf(name, stored[name])));
  return startJsonService((call) => answer(call, served));
}

function generateMissing(file: string, definitions: readonly SecretDefinition[]): StoredSecrets {
  const before = existsSync(file) ? StoredSecrets.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
  const generated = definitions
    .filter(({ name }) => !Object.hasOwn(before, name))
    .map(({ name, generate }) => [
      name,
      { value: generateSecretString(generate, randomInt), versionId: randomUUID(), createdAt: Date.now() },
    ]);
  if (generated.length === 0) return before;

  const after: StoredSecrets = { ...before, ...Object.fromEntries(generated) };
  // Renamed into place: a start that is killed half-way leaves the old file or the new one.
  writeFileSync(`${file}.new`, JSON.stringify(after, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return after;
}

/** The answer to a request for the secret, under both of its identifiers. */
function entriesOf(name: string, secret: z.infer<typeof StoredSecret> | undefined): [string, JsonAnswer][] {
  if (!secret) return [];
  const body = {
    ARN: secretArn(name),
    Name: name,
    VersionId: secret.versionId,
    SecretString: secret.value,
    VersionStages: ['AWSCURRENT'],
    CreatedDate: secret.createdAt / 1_000,
  };
  return [secretArn(name), name].map((id) => [id, success(body)]);
}

const GetSecretValue = z.object({ SecretId: z.string(), VersionStage: z.literal('AWSCURRENT').optional() });

function answer({ target, body }: JsonCall, served: ReadonlyMap<string, JsonAnswer>): JsonAnswer {
  if (target !== 'secretsmanager.GetSecretValue')
    return failure('InvalidRequestException', `The local Secrets Manager does not know ${target}`);
  const wanted = GetSecretValue.safeParse(body);
  if (!wanted.success)
    return failure('InvalidParameterException', 'GetSecretValue takes the SecretId of a current secret');
  return (
    served.get(wanted.data.SecretId) ??
    failure('ResourceNotFoundException', "Secrets Manager can't find the specified secret.")
  );
}
