/*
 * What the reference page does beyond being read: one language for all samples, copying, and a filter of its contents.
 * A file of its own, because the page's policy forbids inline scripts.
 */
const LANGUAGE = 'reference-language';
const root = document.documentElement;

const stored = () => {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null;
  }
};

const choose = (language) => {
  root.dataset.language = language;
  for (const button of document.querySelectorAll('[data-choose]'))
    button.setAttribute('aria-pressed', `${button.dataset.choose === language}`);
  try {
    localStorage.setItem(LANGUAGE, language);
  } catch {
    // Storage is refused: the choice lasts as long as the page.
  }
};

const LANGUAGES = [...document.querySelector('.languages').children].map(({ dataset }) => dataset.choose);
for (const languages of document.querySelectorAll('.languages')) languages.hidden = false;
choose(LANGUAGES.find((language) => language === stored()) ?? LANGUAGES[0]);

document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-choose]');
  if (button === null) return;
  // What is above it may change its height: the button stays where it is pressed.
  const before = button.getBoundingClientRect().top;
  choose(button.dataset.choose);
  scrollBy({ top: button.getBoundingClientRect().top - before, behavior: 'instant' });
});

const SAID_MS = 2_500;
for (const bar of document.querySelectorAll('.sample .bar')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${bar.firstElementChild.textContent}`);
  const said = document.createElement('span');
  said.setAttribute('role', 'status');
  said.className = 'hidden';
  button.addEventListener('click', async () => {
    const blocks = [...bar.parentElement.querySelectorAll('pre')];
    const shown = blocks.find((block) => block.offsetParent !== null);
    const result = await navigator.clipboard.writeText(shown.textContent).then(
      () => 'Copied',
      () => 'Not copied',
    );
    button.textContent = result;
    said.textContent = result;
    setTimeout(() => {
      button.textContent = 'Copy';
      said.textContent = '';
    }, SAID_MS);
  });
  bar.append(button, said);
}

const contents = document.querySelector('nav details');
const field = document.querySelector('.filter');
const nothing = document.querySelector('.nothing');
const input = field.querySelector('input');
field.hidden = false;
input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\s+/);
  let found = 0;
  for (const group of document.querySelectorAll('[data-group]')) {
    const items = [...group.querySelectorAll('[data-find]')];
    for (const item of items) item.hidden = !words.every((word) => item.dataset.find.includes(word));
    const left = items.filter(({ hidden }) => !hidden).length;
    group.hidden = left === 0 && input.value.trim() !== '';
    found += left;
  }
  nothing.hidden = found > 0;
});

// Beside the page the contents are always there, above it they are opened.
const isNarrow = matchMedia('(max-width: 900px)');
const follow = () => {
  contents.open = !isNarrow.matches;
};
isNarrow.addEventListener('change', follow);
follow();
contents.addEventListener('click', ({ target }) => {
  if (isNarrow.matches && target.closest('a') !== null) contents.open = false;
});
