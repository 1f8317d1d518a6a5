import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetSecretValueCommand,
  InvalidParameterException,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secretArn } from '../../src/arns.ts';
import { startSecrets } from '../../src/engines/secrets.ts';
import { secretsClient } from './clients.ts';
import { stateDirectory } from './state-directory.ts';

const master = { name: 'master', generate: { PasswordLength: 64, ExcludePunctuation: true } };

async function start(directory: string, secrets = [master]) {
  const engine = await startSecrets({ directory, secrets });
  onTestFinished(() => engine.stop());
  const client = secretsClient(engine.endpoint);
  return (SecretId: string) => client.send(new GetSecretValueCommand({ SecretId }));
}

describe('the embedded Secrets Manager', () => {
  it('returns a secret by its name and its ARN', async () => {
    const read = await start(stateDirectory());

    const byName = await read('master');
    const byArn = await read(secretArn('master'));

    expect(byName.SecretString).toMatch(/^[A-Za-z0-9]{64}$/);
    expect(byArn).toMatchObject({
      ARN: secretArn('master'),
      Name: 'master',
      SecretString: byName.SecretString,
    });
    expect(byName.VersionStages).toEqual(['AWSCURRENT']);
    expect(byName.CreatedDate).toBeInstanceOf(Date);
  });

  it('generates a secret once, and a new one beside it', async () => {
    const directory = stateDirectory();
    const first = await (await start(directory))('master');

    const read = await start(directory, [master, { ...master, name: 'second' }]);

    expect((await read('master')).SecretString).toBe(first.SecretString);
    expect((await read('second')).SecretString).not.toBe(first.SecretString);
  });

  it('hides its secrets from other users of the machine', async () => {
    const directory = stateDirectory();
    await start(directory);

    expect(statSync(join(directory, 'secrets.json')).mode & 0o777).toBe(0o600);
  });

  it('reports an unknown secret', async () => {
    const directory = stateDirectory();
    await start(directory, [master, { ...master, name: 'former' }]);
    const read = await start(directory);

    await expect(read('former')).rejects.toThrow(ResourceNotFoundException);
  });
});

describe('a new version of a secret', () => {
  async function having(directory = stateDirectory()) {
    const engine = await startSecrets({ directory, secrets: [master] });
    onTestFinished(() => engine.stop());
    const client = secretsClient(engine.endpoint);
    const SecretId = 'master';
    return {
      get: (which: { VersionId?: string; VersionStage?: string } = {}) =>
        client.send(new GetSecretValueCommand({ SecretId, ...which })),
      put: (SecretString: string, ClientRequestToken: string = randomUUID(), VersionStages = ['PENDING']) =>
        client.send(new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken, VersionStages })),
      move: (MoveToVersionId?: string, RemoveFromVersionId?: string) =>
        client.send(
          new UpdateSecretVersionStageCommand({
            SecretId,
            VersionStage: 'AWSCURRENT',
            ...(MoveToVersionId === undefined ? {} : { MoveToVersionId }),
            ...(RemoveFromVersionId === undefined ? {} : { RemoveFromVersionId }),
          }),
        ),
    };
  }

  it('becomes current when its label is moved from the current version, which is then the previous one', async () => {
    const { get, put, move } = await having();
    const first = await get();

    const { VersionId } = await put('new');
    expect((await get()).SecretString).toBe(first.SecretString);
    expect((await get({ VersionStage: 'PENDING' })).SecretString).toBe('new');

    await move(VersionId, first.VersionId);
    expect(await get()).toMatchObject({ SecretString: 'new', VersionId });
    expect((await get({ VersionStage: 'AWSPREVIOUS' })).VersionId).toBe(first.VersionId);
  });

  it('does not become current when another one did meanwhile', async () => {
    const { get, put, move } = await having();
    const first = await get();
    const [mine, theirs] = [await put('mine'), await put('theirs')];
    await move(theirs.VersionId, first.VersionId);

    await expect(move(mine.VersionId, first.VersionId)).rejects.toThrow(InvalidParameterException);
    await expect(move(mine.VersionId)).rejects.toThrow(InvalidParameterException);
    await expect(move('f'.repeat(32), theirs.VersionId)).rejects.toThrow(ResourceNotFoundException);
    expect((await get()).SecretString).toBe('theirs');
  });

  it('is unchanged by a repeated request, which is refused when its value differs', async () => {
    const { get, put } = await having();
    const token = randomUUID();
    await put('new', token);
    await put('new', token);
    await expect(put('other', token)).rejects.toThrow(ResourceExistsException);
    expect((await get({ VersionId: token })).SecretString).toBe('new');
  });

  it('is current at once by default, and stays so at the next start', async () => {
    const directory = stateDirectory();
    const { put } = await having(directory);
    await put('new', randomUUID(), ['AWSCURRENT']);
    expect((await (await having(directory)).get()).SecretString).toBe('new');
  });

  it('replaces the only version of an earlier run, which becomes the previous one', async () => {
    const directory = stateDirectory();
    await having(directory);
    const file = join(directory, 'secrets.json');
    const kept = { master: { value: 'kept', versionId: randomUUID(), createdAt: Date.now() } };
    expect(readFileSync(file, 'utf8')).toContain('AWSCURRENT');
    writeFileSync(file, JSON.stringify(kept));

    const { get, put, move } = await having(directory);
    expect(await get()).toMatchObject({ SecretString: 'kept', VersionStages: ['AWSCURRENT'] });
    const { VersionId } = await put('new');
    await move(VersionId, kept.master.versionId);
    expect((await get({ VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('kept');
  });

  it('is refused when the request lacks a field', async () => {
    const { put, get } = await having();
    const before = await get();
    await expect(put('new', 'too short')).rejects.toThrow();
    expect(await get()).toMatchObject({ VersionId: before.VersionId });
  });
});
