import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Router } from 'wouter';
import { Pages } from '../../../dashboard/src/app/pages.tsx';
import { en } from '../../../dashboard/src/text/en.ts';
import { returnPath } from '../../../functions/sign-in/browser.ts';
import { everyMail, listMailLinks } from '../../support/every-mail.ts';

const render = (path: string): string =>
  renderToString(createElement(Router, { ssrPath: path }, createElement(Pages)));

describe('the links of e-mails', () => {
  it('are in every e-mail, in its text as in its HTML', () => {
    for (const { text, html } of Object.values(everyMail('https://dashboard.example.com')).flat()) {
      const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) expect(text.split('\n')).toContain(link);
    }
  });

  it.each(listMailLinks())('open a page of the dashboard, also after a sign-in: %s', (path) => {
    expect(render(path)).not.toContain(en.notFound.title);
    expect(returnPath(path)).toBe(path);
  });

  it('would be found if they led nowhere', () => {
    expect(render('/settings/organization')).toContain(en.notFound.title);
  });
});
