/**
 * Reads a percentage that was typed, with a decimal point or comma.
 * @returns 0 to 100 with two decimals at most, as the API takes it; undefined for anything else
 */
export function percentFrom(text: string): number | undefined {
  const written = text.trim().replace(',', '.');
  const percent = /^\d{1,3}(\.\d{1,2})?$/.test(written) ? Number(written) : Number.NaN;
  return percent <= 100 ? percent : undefined;
}
