import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOTICES } from '../../../functions/events/bus.ts';
import { MAIL_BUDGETS } from '../../../functions/notices/mail.ts';
import { nameOf, sourceOf } from './source.ts';

const ROOT = join(import.meta.dirname, '../../..');
const sources = globSync('{functions,lib,bin}/**/*.ts', { cwd: ROOT }).map((path) =>
  sourceOf(path, readFileSync(join(ROOT, path), 'utf8')),
);
const listUsers = (module: RegExp): string[] =>
  sources.flatMap(({ path, loads }) =>
    loads.some((each) => !each.isTypeOnly && module.test(each.module)) ? [path] : [],
  );

/* E-mail has one path: everything that is sent passes the budgets of `notices/notify.ts`. */
describe('e-mail', () => {
  it('is sent by one module, for one worker', () => {
    expect(listUsers(/client-ses/).toSorted()).toEqual([
      'functions/aws/clients.ts',
      'functions/notices/notify.ts',
    ]);
    expect(listUsers(/\/notify\.ts$/)).toEqual(['functions/workers/notify.ts']);
  });

  it('is sent at one place, which has asked for the budget', () => {
    const sends = sources.flatMap(({ path, places }) =>
      places
        .filter(({ node }) => node.type === 'MemberExpression')
        .map(({ node }) => ({
          path,
          text: `${nameOf(Object(node.object).property)}.${nameOf(node.property)}`,
        }))
        .filter(({ text }) => ['mailer.send', 'budgets.find', 'budgets.admit'].includes(text))
        .map(({ text }) => `${path} ${text}`),
    );
    expect(sends.toSorted()).toEqual([
      'functions/notices/notify.ts budgets.admit',
      'functions/notices/notify.ts budgets.find',
      'functions/notices/notify.ts mailer.send',
    ]);
  });

  it('has a budget for each kind, and leaves most of the quota to other organizations', () => {
    expect(Object.keys(MAIL_BUDGETS).toSorted()).toEqual(Object.keys(NOTICES).toSorted());
    const budgets = Object.values(MAIL_BUDGETS).flatMap((budget) => (budget === false ? [] : [budget]));
    const sum = budgets.reduce((total, { organization }) => total + organization, 0);
    expect(sum).toBeLessThan(MAIL_BUDGETS['source.changed'].stage / 100);
  });
});
