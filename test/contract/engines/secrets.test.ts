import { statSync } from 'node:fs';
import { join } from 'node:path';
import { GetSecretValueCommand, ResourceNotFoundException } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secretArn } from '../../../lib/local/arns.ts';
import { startSecrets } from '../../../lib/local/engines/secrets.ts';
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
  it('answers one secret under its name and its ARN', async () => {
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

  it('keeps its secrets from other users of the machine', async () => {
    const directory = stateDirectory();
    await start(directory);

    expect(statSync(join(directory, 'secrets.json')).mode & 0o777).toBe(0o600);
  });

  it('does not know a secret that the template does not have', async () => {
    const directory = stateDirectory();
    await start(directory, [master, { ...master, name: 'former' }]);
    const read = await start(directory);

    await expect(read('former')).rejects.toThrow(ResourceNotFoundException);
  });
});
