/** Colors and fonts of the local run's pages, in the system's color scheme. */
export const PALETTE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#f4f5f7, #14171c);
  --card: light-dark(#ffffff, #1d2128);
  --ink: light-dark(#1a1f27, #e8eaee);
  --quiet: light-dark(#566070, #a3acba);
  --line: light-dark(#858e9c, #6b7482);
  --rule: light-dark(#dde1e7, #313842);
  --accent: light-dark(#1f5fbf, #8db8ff);
  --on-accent: light-dark(#ffffff, #0d1a2e);
  --wrong: light-dark(#a3191f, #ffb0ab);
  --wrong-paper: light-dark(#fdeeee, #3a1d1e);
}
* { box-sizing: border-box; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;
