import { parseError } from './attempt-errors.ts';
import { useTexts } from './language.ts';

/** An attempt's error in the reader's language; one that is not known as the service words it. */
export function useErrorText(): (text: string) => string {
  const { attemptErrors } = useTexts();
  return (text) => {
    const error = parseError(text);
    return error === undefined ? text : attemptErrors[error.kind](error.detail);
  };
}
