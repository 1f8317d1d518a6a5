import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { secretArn } from '../arns.ts';
import { type Engine, ensureStateDirectory } from './engine.ts';
import { generateSecretString, type SecretStringRule } from './secret-string.ts';

/** A secret of the template: its physical name, and how its value comes about. */
export interface SecretDefinition {
  name: string;
  generate: SecretStringRule;
}

const StoredSecret = z.object({ value: z.string(), versionId: z.string(), createdAt: z.number() });
const StoredSecrets = z.record(z.string(), StoredSecret);
type StoredSecrets = z.infer<typeof StoredSecrets>;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

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

  const server = createServer((request, response) => {
    answer(request, served).then(
      (result) => send(response, result),
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('A TCP server has an address with a port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
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
function entriesOf(name: string, secret: z.infer<typeof StoredSecret> | undefined): [string, Answer][] {
  if (!secret) return [];
  const body = {
    ARN: secretArn(name),
    Name: name,
    VersionId: secret.versionId,
    SecretString: secret.value,
    VersionStages: ['AWSCURRENT'],
    CreatedDate: secret.createdAt / 1_000,
  };
  return [secretArn(name), name].map((id) => [id, { status: 200, body }]);
}

const GetSecretValue = z.object({ SecretId: z.string(), VersionStage: z.literal('AWSCURRENT').optional() });

async function answer(request: IncomingMessage, served: ReadonlyMap<string, Answer>): Promise<Answer> {
  const body = await text(request);
  const operation = request.headers['x-amz-target'];
  if (operation !== 'secretsmanager.GetSecretValue') {
    return failure('InvalidRequestException', `The local Secrets Manager does not know ${operation}`);
  }
  const wanted = GetSecretValue.safeParse(parseJson(body));
  if (!wanted.success)
    return failure('InvalidParameterException', 'GetSecretValue takes the SecretId of a current secret');
  return (
    served.get(wanted.data.SecretId) ??
    failure('ResourceNotFoundException', "Secrets Manager can't find the specified secret.")
  );
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const failure = (type: string, message: string): Answer => ({ status: 400, body: { __type: type, message } });

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
}
