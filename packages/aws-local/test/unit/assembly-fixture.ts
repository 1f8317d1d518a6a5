import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const stack = (name: string) => ({
  [`${name}.assets`]: { type: 'cdk:asset-manifest', properties: { file: `${name}.assets.json` } },
  [name]: { type: 'aws:cloudformation:stack', properties: { templateFile: `${name}.template.json` } },
});

const assets = {
  files: {
    abc: {
      source: { path: 'asset.abc', packaging: 'zip' },
      destinations: { here: { bucketName: 'bucket', objectKey: 'abc.zip' } },
    },
  },
};

/** A directory as the CDK synthesizes it, with one function asset `abc.zip`, until the end of the test. */
export function anAssembly(template: object, stacks: readonly string[] = ['Service']): string {
  const directory = mkdtempSync(join(tmpdir(), 'assembly-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'asset.abc'));
  const write = (file: string, content: unknown) =>
    writeFileSync(join(directory, file), JSON.stringify(content));

  write('manifest.json', {
    artifacts: Object.assign(
      { Tree: { type: 'cdk:tree', properties: { file: 'tree.json' } } },
      ...stacks.map(stack),
    ),
  });
  for (const name of stacks) {
    write(`${name}.assets.json`, assets);
    write(`${name}.template.json`, template);
  }
  return directory;
}
