const MAX_PER_SECOND = 1000;

/** Whether a limit is empty, which is none, or one that the service takes. */
export function isLimit(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed === '') return true;
  return /^\d{1,4}$/.test(trimmed) && Number(trimmed) >= 1 && Number(trimmed) <= MAX_PER_SECOND;
}
