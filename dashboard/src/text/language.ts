import { en, type Texts } from './en.ts';
import { type Format, formatIn } from './format.ts';

/** Languages that the application has. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const CHOICE = 'language';

const isLanguage = (tag: string | null | undefined): tag is Language => tag === 'en' || tag === 'de';

/** The language that was chosen, else the first of the browser's that there is, else English. */
export function preferredLanguage(): Language {
  const chosen = stored();
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.split('-')[0]).find(isLanguage) ?? 'en';
}

function stored(): string | null {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

/** Takes effect with the next start of the page. */
export function chooseLanguage(language: Language): void {
  try {
    localStorage.setItem(CHOICE, language);
  } catch {
    // Storage is refused: the browser's language stays.
  }
}

/** What the page says and how it writes numbers and times, in the reader's language. */
export let language: Language = 'en';
export let t: Texts = en;
export let format: Format = formatIn(language);

/**
 * Sets the language of the page, before anything is shown. All but English are loaded when they are needed,
 * and English stands in for what cannot be loaded.
 */
export async function speak(wanted: Language): Promise<void> {
  if (wanted === 'en') return;
  const texts = await import('./de.ts').catch(() => undefined);
  if (texts === undefined) return;
  language = wanted;
  t = texts.de;
  format = formatIn(wanted);
}
