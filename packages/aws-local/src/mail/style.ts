import { PALETTE } from '../pages/palette.ts';

export const STYLE = `${PALETTE}
body {
  margin: 0;
  padding: clamp(1rem, 4vw, 3rem) 1rem;
  background: var(--paper);
  color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif;
}
main { max-width: 60rem; margin: 0 auto; }
.place { margin: 0; color: var(--quiet); font-size: 0.875rem; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 0.5rem; font-size: 0.875rem; color: var(--quiet); }
p { margin: 0 0 1rem; }
a { color: var(--accent); text-underline-offset: 0.15em; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
code { font: 0.875em ui-monospace, monospace; }
.card {
  margin: 0 0 1.25rem;
  padding: 1rem 1.25rem;
  background: var(--card);
  border: 1px solid var(--rule);
  border-radius: 0.75rem;
}
.empty { padding: 3rem 1.25rem; text-align: center; }
.empty p { max-width: 34rem; margin-inline: auto; }
.empty p:last-child { margin-bottom: 0; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.5rem 1.5rem 0.5rem 0; text-align: left; vertical-align: baseline; }
th { color: var(--quiet); font-size: 0.875rem; font-weight: 400; }
td { border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
:is(th, td):last-child { width: 50%; padding-right: 0; }
td a { font-weight: 600; }
time { color: var(--quiet); font-variant-numeric: tabular-nums; white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1.25rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 0; font: 0.875rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
iframe { display: block; width: 100%; height: 28rem; border: 0; resize: vertical; }
@media (max-width: 40rem) {
  thead { display: none; }
  td, td:last-child { display: block; width: auto; padding: 0 0 0.125rem; border: 0; }
  tr + tr td:first-child { margin-top: 0.625rem; padding-top: 0.625rem; border-top: 1px solid var(--rule); }
}
`;
