-- A page that turns out to stand already, as the file has it, waits no more.
grant delete on import_pages to {writer};
