import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseYaml } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

interface Step {
  uses?: string;
  run?: string;
}
type Read = { jobs: Record<string, { needs?: string; steps: Step[] }> };

const read = (file: string): unknown =>
  parseYaml(readFileSync(join(ROOT, 'examples/pipeline', file), 'utf8'));

describe('the example of a pipeline', () => {
  const { jobs } = read('release.yml') as Read;
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const commands = steps.flatMap(({ run }) => run ?? []).join('\n');

  it('has steps that either run or use something, and jobs that exist', () => {
    for (const step of steps)
      expect([step.run, step.uses].filter(Boolean), JSON.stringify(step)).toHaveLength(1);
    for (const { needs } of Object.values(jobs)) expect([undefined, ...Object.keys(jobs)]).toContain(needs);
  });

  it('checks, checks the release, deploys, verifies and undoes, with scripts and options that exist', () => {
    const scripts = [...commands.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script);
    expect(scripts).toEqual(['check', 'release-check', 'verify']);
    for (const script of scripts) expect(manifest.scripts).toHaveProperty([script]);
    const deploys = commands.match(/npx cdk deploy -c stage="\$STAGE"/g);
    expect(deploys).toHaveLength(2);
  });

  it.each([
    ['npx cdk deploy', 'node_modules/aws-cdk/bin/cdk', 'deploy'],
    ['npm run release-check', 'bin/release-check.ts'],
    ['npm run verify', 'bin/verify.ts'],
  ])('gives %s options that it has', async (command, ...program) => {
    const help = await run(process.execPath, [...program, '--help'], { cwd: ROOT });
    const lines = commands.replaceAll('\\\n', '').split('\n');
    const options = lines.flatMap((line) =>
      line.includes(command) ? line.match(/(?<=[ +])--[a-z-]+/g) : [],
    );
    expect(options.length).toBeGreaterThan(0);
    for (const option of options) expect(help.stdout).toContain(`${option} `);
  });

  it('takes a role that only the environment of its stage may take', () => {
    const { Resources } = read('role.yml') as { Resources: Record<string, { Type: string }> };
    expect(Object.values(Resources).map(({ Type }) => Type)).toEqual([
      'AWS::IAM::OIDCProvider',
      'AWS::IAM::Role',
    ]);
    expect(JSON.stringify(Resources)).toMatch(/"repo:\$\{Repository\}:environment:\$\{Stage\}"/);
  });
});
