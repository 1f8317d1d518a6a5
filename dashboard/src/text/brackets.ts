/** Words that follow in brackets, where there are any. */
export const inBrackets = (words: string): string => (words === '' ? '' : ` (${words})`);
