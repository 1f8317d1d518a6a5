import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CfnResource, Stack } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { expect, it, onTestFinished } from 'vitest';
import { checkedApp } from '../../lib/infra/checked-app.ts';
import { wholeSynthesis } from './synthesis.ts';

wholeSynthesis();

it('cdk-nag stops the synthesis together with CloudFormation’s rules, with the finding and its place', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'nag-'));
  onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
  const app = checkedApp({ outdir, findings: 'thrown' });
  const queue = new Queue(new Stack(app, 'Careless'), 'Queue');
  (queue.node.defaultChild as CfnResource).addPropertyOverride('VisibilityTimeOut', 30);
  let text = '';
  try {
    app.synth();
  } catch (error) {
    text = String(error);
  }
  expect(text).toMatch(/Careless\/Queue[\s\S]*AwsSolutions-SQS4/);
  expect(text).toMatch(/VisibilityTimeOut/);
});
