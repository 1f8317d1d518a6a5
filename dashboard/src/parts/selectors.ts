/** What has the keyboard for itself. */
export const FIELDS = 'input, textarea, select, [contenteditable="true"]';
export const DIALOGS = '[role="dialog"], [role="alertdialog"]';
