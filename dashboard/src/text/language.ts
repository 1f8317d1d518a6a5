import { createContext, useContext } from 'react';
import { en, type Texts } from './en.ts';

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

export interface Speech {
  language: Language;
  t: Texts;
}

/**
 * A language with its texts; all but English are loaded when they are needed, and English stands in for what
 * cannot be loaded.
 */
export async function speechIn(language: Language): Promise<Speech> {
  const english = { language: 'en', t: en } as const;
  if (language === 'en') return english;
  return import('./de.ts').then(
    ({ de }) => ({ language, t: de }),
    () => english,
  );
}

export const SpeechContext = createContext<Speech>({ language: 'en', t: en });

/** What the page says, in the reader's language. */
export const useTexts = (): Texts => useContext(SpeechContext).t;
export const useLanguage = (): Language => useContext(SpeechContext).language;
