import { PALETTE } from '../pages/palette.ts';

export const STYLE = `${PALETTE}
body {
  margin: 0;
  min-height: 100vh;
  padding: 2rem 1rem;
  display: grid;
  place-items: center;
  background: var(--paper);
  color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif;
}
main {
  width: 100%;
  max-width: 25rem;
  padding: clamp(1.25rem, 6vw, 2rem);
  background: var(--card);
  border: 1px solid var(--rule);
  border-radius: 0.75rem;
}
.place { margin: 0; color: var(--quiet); font-size: 0.875rem; }
h1 { margin: 0 0 1.25rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 0.5rem; font-size: 0.875rem; }
p { margin: 0 0 1rem; }
p:last-child { margin-bottom: 0; }
label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
input {
  width: 100%;
  margin-bottom: 1rem;
  padding: 0.5rem 0.75rem;
  background: var(--card);
  color: inherit;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  font: inherit;
}
input[aria-invalid] { border-color: var(--wrong); }
button {
  width: 100%;
  padding: 0.625rem 1rem;
  background: var(--accent);
  color: var(--on-accent);
  border: 0;
  border-radius: 0.375rem;
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover { filter: brightness(1.08); }
.wrong {
  padding: 0.625rem 0.75rem;
  background: var(--wrong-paper);
  color: var(--wrong);
  border-left: 4px solid var(--wrong);
  border-radius: 0.25rem;
}
aside { margin-top: 1.75rem; padding-top: 1.25rem; border-top: 1px solid var(--rule); color: var(--quiet); font-size: 0.875rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.125rem 0; text-align: left; font-weight: 400; }
:is(th, td) + :is(th, td) { padding-left: 0.75rem; }
td { color: var(--ink); font: 0.8125rem ui-monospace, monospace; overflow-wrap: anywhere; }
`;
